/** Where an agent's links may lead, and which of its images may be shown: nothing is fetched. */

const RASTER = /^data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]+$/i;

/** Whether the card may show this address as an image: raster data in place, never a fetch. */
export function isRasterData(address: string): boolean {
  return RASTER.test(address);
}

/** `address` where a link may lead there, else null: http, https and mailto. */
export function safeLink(address: string): string | null {
  try {
    const url = new URL(address);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
