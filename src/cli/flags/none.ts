/** The word that clears a field. */
export const NONE = 'none'
