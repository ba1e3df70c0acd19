/** Why a request to another server failed: the codes of Node.js, and these. */

/** The other server sent more than it may. */
export const OVER_BUDGET = 'OVER_BUDGET'

/** There was no response in time. */
export const NO_RESPONSE = 'NO_RESPONSE'

/** The other server neither sent nor received anything for too long. */
export const SILENT = 'SILENT'

/** The address must not be reached; the message is for the admin who named it. */
export const ADDRESS_REFUSED = 'ADDRESS_REFUSED'

export const failure = (code: string, message: string): NodeJS.ErrnoException =>
  Object.assign(new Error(message), { code })
