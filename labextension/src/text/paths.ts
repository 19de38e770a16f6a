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

/** `path` from `cwd` where it lies within it, else as it is. */
export function fromCwd(path: string, cwd: string): string {
  if (!within(path, cwd)) return path;
  return parts(path).slice(parts(cwd).length).join('/') || '.';
}

/** What is odd about a path, in words, or null: by its text only, links are not followed. */
export function pathTrouble(path: string, turn: Pick<Turn, 'cwd' | 'additional_directories'>): string | null {
  if (!isAbsolute(path)) return 'not an absolute path';
  const roots = [turn.cwd, ...turn.additional_directories];
  return roots.some(root => within(path, root)) ? null : 'outside the session’s directories';
}
