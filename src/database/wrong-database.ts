/** A database that this program must not touch. The message explains what to do. */
export class WrongDatabase extends Error {}
