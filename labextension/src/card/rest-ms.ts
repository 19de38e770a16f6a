/** A box that has just appeared may stand where a click was aimed at something else; the labextension's commands heed it too. */
export const BOX_REST_MS = 400;
