/**
 * The numbered steps by which the SQL stores change their schema, and which programs may work with the result. `minReader` is what a
 * rolling upgrade and a downgrade depend on: version N opens the schema of N+1 if the newest step allows it.
 */
export interface MigrationStep {
  readonly sql: string
  /** A program must know this many steps to read and write the schema after this one. */
  readonly minReader: number
}

/** A table whose rows have a checksum of their texts. Rows of older versions get theirs in batches. */
export interface ChecksummedTable {
  readonly table: 'log' | 'snapshots'
  /** An integer, and the primary key. */
  readonly key: string
  /** The CRC-32 covers these texts, in this order, in UTF-8. */
  readonly texts: readonly string[]
}

export const checksummedTables: readonly ChecksummedTable[] = [
  { table: 'log', key: 'position', texts: ['records'] },
  { table: 'snapshots', key: 'task', texts: ['folded', 'internal'] },
]

/** Throws unless a program that knows `known` steps may use a schema at `version`. `name` begins the message. */
export function assertReadable(name: string, version: number, minReader: number, known: number): void {
  if (version <= known || minReader <= known) return
  throw new Error(
    `${name} was migrated by a newer version: its schema is ${version}, which requires a program that knows ` +
      `schema ${minReader}; this one knows ${known}. Use the newer version, or restore a backup from before the upgrade.`,
  )
}
