/** The colours of a terminal: SGR codes to classes, or to a colour of the 256 or 16 M. */

export interface Style {
  fg: string | null;
  bg: string | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
  /** Where it leads (OSC 8): http or https, no other. */
  link: string | null;
}

export const PLAIN: Style = Object.freeze({
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
  link: null
});

const SWITCHES: Record<number, Partial<Style>> = {
  1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { underline: true }, 7: { inverse: true }, 9: { strike: true },
  21: { bold: false }, 22: { bold: false, dim: false }, 23: { italic: false }, 24: { underline: false }, 27: { inverse: false },
  29: { strike: false }, 39: { fg: null }, 49: { bg: null }
};

const LEVELS = [0, 95, 135, 175, 215, 255];

/** A colour of the 256: a theme's own up to 15, then the cube, then the greys. */
function palette(index: number): string | null {
  if (!(index >= 0 && index <= 255)) return null;
  if (index < 16) return `var(--acp-ansi-${index})`;
  if (index >= 232) return rgb([8, 8, 8].map(base => base + (index - 232) * 10));
  const cube = index - 16;
  return rgb([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level => LEVELS[level] ?? 0));
}

function rgb(values: number[]): string | null {
  return values.length === 3 && values.every(value => value >= 0 && value <= 255) ? `rgb(${values.join(',')})` : null;
}

/** The style after the parameters of an SGR sequence, such as `1;31` or `38;5;208`. */
export function sgr(style: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(code => (code === '' ? 0 : Number(code)));
  let now = style;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    if (code === 0) now = style.link ? { ...PLAIN, link: style.link } : PLAIN;
    else if (code === 38 || code === 48) {
      const wide = codes[i + 1] === 2;
      const colour = wide ? rgb(codes.slice(i + 2, i + 5)) : palette(codes[i + 2] ?? -1);
      now = { ...now, [code === 38 ? 'fg' : 'bg']: colour };
      i += wide ? 4 : 2;
    } else if (code >= 30 && code <= 37) now = { ...now, fg: palette(code - 30) };
    else if (code >= 40 && code <= 47) now = { ...now, bg: palette(code - 40) };
    else if (code >= 90 && code <= 97) now = { ...now, fg: palette(code - 82) };
    else if (code >= 100 && code <= 107) now = { ...now, bg: palette(code - 92) };
    else if (SWITCHES[code]) now = { ...now, ...SWITCHES[code] };
  }
  return now;
}
