import { cpus, totalmem } from 'node:os'

/** The machine that everything runs on, for the head of a table. */
export const MACHINE = `${cpus().length} × ${cpus()[0]!.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`
