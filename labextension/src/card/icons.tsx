import type { JSX } from 'preact';

/** Strokes on a 16 px square; our own, so that no font is needed. */
const PATHS = {
  read: 'M4 2.5h5L12.5 6v7.5h-8.5zM8.8 2.5v3.7h3.7M6 8.7h4.5M6 11h4.5',
  edit: 'M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3zM9 4.7 11.3 7',
  delete: 'M3 4.5h10M6.2 4.5v-2h3.6v2M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4',
  move: 'M2.5 8h10M9 4.5 12.5 8 9 11.5M2.5 5v6',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.4 3.4',
  execute: 'M3 4.5 6.5 8 3 11.5M8 11.8h5.5',
  think: 'M6 12.2h4M6.6 14h2.8M8 2a4.2 4.2 0 0 0-2.4 7.6c.4.3.6.7.6 1.2h3.6c0-.5.2-.9.6-1.2A4.2 4.2 0 0 0 8 2z',
  fetch: 'M8 2v8M4.8 7 8 10.2 11.2 7M3 13.5h10',
  switch_mode: 'M3 5h8.5M9 2.5 11.5 5 9 7.5M13 11H4.5M7 8.5 4.5 11 7 13.5',
  other: 'M8 2.2l1.3 2.5 2.8-.2-.2 2.8L14 8l-2.1.9.2 2.6-2.8-.2L8 13.8l-1.3-2.5-2.8.2.2-2.6L2 8l2.1-.7-.2-2.8 2.8.2zM8 9.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2z',
  check: 'M3 8.6 6.4 12 13 4.6',
  cross: 'M4 4l8 8M12 4l-8 8',
  caret: 'M6 4l4 4-4 4',
  circle: 'M8 13a5 5 0 1 0 0-10 5 5 0 0 0 0 10z',
  dash: 'M8 13a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM5.8 8h4.4',
  warn: 'M8 2.2 14.4 13.5H1.6zM8 6.5v3.4M8 11.4v.8',
  link: 'M6.8 9.2 9.4 6.6M7 4.8l1.3-1.3a2.9 2.9 0 0 1 4.1 4.1L11.2 9M9 11.2l-1.3 1.3a2.9 2.9 0 0 1-4.1-4.1L4.8 7'
} as const;

export type IconName = keyof typeof PATHS | 'dot' | 'stop';

export function Icon({ name, label }: { name: IconName; label?: string }): JSX.Element {
  const filled = name === 'dot' || name === 'stop';
  return (
    <svg class="acp-icon" viewBox="0 0 16 16" width="16" height="16" role={label ? 'img' : undefined} aria-label={label} aria-hidden={label ? undefined : 'true'}>
      {name === 'dot' ? <circle cx="8" cy="8" r="4.5" fill="currentColor" /> : null}
      {name === 'stop' ? <rect x="3.5" y="3.5" width="9" height="9" rx="1.5" fill="currentColor" /> : null}
      {filled ? null : (
        <path d={PATHS[name as keyof typeof PATHS]} fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" />
      )}
    </svg>
  );
}
