/**
 * The numbered steps by which the SQL stores change their schema, and which programs may work with the result. `minReader` is what a
 * rolling upgrade and a downgrade depend on: version N opens the schema of N+1 if the newest step allows it.
 */
export interface MigrationStep {
  /** The number of the schema after this step: one more than that of the step before. */
  readonly version: number
  readonly sql: string
  /** A program must know this schema to read and write the one after this step. */
  readonly minReader: number
}

/** The first schema. What was stored before it is moved by a dump. */
export const baseline = 100

/** A table whose rows have a checksum of their texts. */
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

/** The schema after all of these steps. */
export function newestVersion(steps: readonly MigrationStep[]): number {
  return steps.at(-1)?.version ?? 0
}

/** Throws unless a program that knows these steps may use a schema at `version`, or migrate it. */
export function assertUsable(name: string, version: number, minReader: number, known: readonly MigrationStep[]): void {
  if (version < baseline) {
    throw new Error(
      `${name} is at version ${version}, which cannot be migrated to version ${baseline}: dump it with the version of Parley that ` +
        'wrote it (parley export), and load the dump into an empty store with this one (parley import).',
    )
  }
  const newest = newestVersion(known)
  if (version <= newest || minReader <= newest) return
  throw new Error(
    `${name} was migrated by a newer version: its schema is ${version}, which requires a program that knows ` +
      `schema ${minReader}; this one knows ${newest}. Use the newer version, or restore a backup from before the upgrade.`,
  )
}
