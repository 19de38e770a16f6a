/** Addresses that a link may lead to. */

/** `text` as a browser reads it where that is an address of the web, else null. */
export function webAddress(text: string): string | null {
  try {
    const { protocol, href } = new URL(text);
    return protocol === 'https:' || protocol === 'http:' ? href : null;
  } catch {
    return null;
  }
}
