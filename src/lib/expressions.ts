/** Characters with a special meaning in regular expressions, and the slash that ends one in conditions of rules. */
const SIGNS = /[\\^$.*+?()[\]{}|/]/g

/** A regular expression that matches exactly this text. */
export const escapeExpression = (text: string): string => text.replace(SIGNS, '\\$&')
