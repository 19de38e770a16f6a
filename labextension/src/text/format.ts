/** Numbers and times in words. */

/** A duration in seconds: `0.2 s`, `42 s`, `3 min 5 s`, `2 h 4 min`. */
export function duration(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < 9.95) return `${s.toFixed(1)} s`;
  const whole = Math.round(s);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** A duration in whole seconds, for prose: `4 s`, at least `1 s`. */
export function roughly(seconds: number): string {
  return duration(Math.max(1, Math.round(seconds))).replace('.0', '');
}

/** A running clock: `0:42`, `1:02:03`. */
export function clock(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  const pad = (n: number): string => String(n).padStart(2, '0');
  const hours = Math.floor(s / 3600);
  const rest = `${hours > 0 ? pad(Math.floor(s / 60) % 60) : Math.floor(s / 60)}:${pad(s % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/** The time of day of a Unix time, as the reader's clock had it: `14:02:11`. */
export function timeOfDay(time: number): string {
  const date = new Date(time * 1000);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(n => String(n).padStart(2, '0')).join(':');
}

/** A count of tokens: `76k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_500) return `${trim(count / 1000)}k`;
  return `${trim(count / 1_000_000)}M`;
}

function trim(n: number): string {
  return n < 9.95 ? n.toFixed(1).replace(/\.0$/, '') : String(Math.round(n));
}

/** Money: `$0.12`; another currency by its code. */
export function money(cost: { amount: number; currency: string }): string {
  const amount = cost.amount.toFixed(cost.amount > 0 && cost.amount < 0.01 ? 4 : 2);
  return cost.currency === 'USD' ? `$${amount}` : `${amount} ${cost.currency}`;
}

/** A size in bytes: `12 kB`. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 999_500 ? `${trim(count / 1000)} kB` : `${trim(count / 1_000_000)} MB`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
