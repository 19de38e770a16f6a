/** Paths as text only: nothing here looks at a disk, and nothing shortens a path so that its meaning changes. */

import type { Turn } from '../types';

function parts(path: string): string[] {
  const out: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') out.pop();
    else out.push(part);
  }
  return out;
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('\\\\');
}

function within(path: string, root: string): boolean {
  const [inner, outer] = [parts(path), parts(root)];
  return isAbsolute(path) && isAbsolute(root) && outer.every((part, index) => inner[index] === part);
}

/** What leads from the folder `root` to `path`, or null where it does not lie in it. */
export function below(path: string, root: string): string | null {
  return within(path, root) ? parts(path).slice(parts(root).length).join('/') : null;
}

/** `path` from `cwd` where it lies within it, else as it is. */
export function fromCwd(path: string, cwd: string): string {
  const inner = below(path, cwd);
  return inner === null ? path : inner || '.';
}

/** What is odd about a path, in words, or null: by its text only, links are not followed. */
export function pathTrouble(path: string, turn: Pick<Turn, 'cwd' | 'additional_directories'>): string | null {
  if (!isAbsolute(path)) return 'not an absolute path';
  const roots = [turn.cwd, ...turn.additional_directories];
  return roots.some(root => within(path, root)) ? null : 'outside the session’s directories';
}
