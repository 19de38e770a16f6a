/** What the page provides, for tests without one: the tokens, by which nothing is found. */

export const ILabShell = {};
export const INotebookTracker = {};
export const ICommandPalette = {};
export const IStatusBar = {};
export const Notification = { emit: (): string => '', dismiss: (): void => undefined };
export const PageConfig = { getOption: (): string => '' };
