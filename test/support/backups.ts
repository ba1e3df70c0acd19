/** Databases with an identity of their own, and backups of them without a server. */
import { Database as Connection } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { copyWhole } from '../../src/database/backup/copy.ts'
import { identityIn } from '../../src/database/backup/identity.ts'
import { backupName } from '../../src/database/backup/names.ts'
import { DATABASE_FILE } from '../../src/database/open.ts'
import { copySqliteTemplate } from './sqlite-template.ts'

export class BackedUpDatabase {
  private constructor(readonly file: string) {}

  /** In a new folder. */
  static async in(folder: string): Promise<BackedUpDatabase> {
    mkdirSync(folder, { recursive: true })
    await copySqliteTemplate(folder)
    const database = new BackedUpDatabase(join(folder, DATABASE_FILE))
    database.beginAnew()
    return database
  }

  static at(file: string): BackedUpDatabase {
    return new BackedUpDatabase(file)
  }

  /** Gives it an identity of its own: that of the template is the same for all tests. */
  beginAnew(): void {
    this.run('UPDATE database_identity SET signing_key = randomblob(32)')
    this.renewTimeline()
  }

  run(statement: string): void {
    const connection = new Connection(this.file)
    connection.run(statement)
    connection.close()
  }

  get identity() {
    return identityIn(this.file)!
  }

  renewTimeline(): void {
    this.run('UPDATE backup_timeline SET timeline = lower(hex(randomblob(4)))')
  }

  /** Text that cannot be compressed by more than half. */
  grow(bytes: number): void {
    for (let at = 0; at < bytes; at += 1_000_000) this.run('INSERT INTO names (text) VALUES (hex(randomblob(500000)))')
  }

  /** Makes a backup as a server does, and returns its name. */
  backUp(folder: string, madeAt: number): string {
    const name = backupName({ madeAt, timeline: this.identity.timeline })
    const reading = new Connection(this.file, { readonly: true })
    copyWhole(reading, join(folder, name), madeAt)
    reading.close()
    return name
  }
}
