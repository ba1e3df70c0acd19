/** How often what lasts longer than one read asks for its caller again: rights that end count no later. */
export const RENEW_MS = 1_000
