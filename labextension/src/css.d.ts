/** A style sheet is bundled as its minified text (`build.mjs`). */
declare module '*.css' {
  const text: string;
  export default text;
}

/** The same as it is written, for tests. */
declare module '*.css?raw' {
  const text: string;
  export default text;
}
