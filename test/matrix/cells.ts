/** The cells of the matrix: every version over every binding on every store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import { type BindingName, bindingNames, versionIds } from '@parley/a2a/internal'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import type { VersionId } from '../../packages/a2a/src/versions/index.ts'
import { skipReason } from '../postgres/databases.ts'
import { emptyStores } from '../postgres/empty-stores.ts'

export type Binding = BindingName

/** A version and a binding: what a client selects. */
export interface CellBinding {
  readonly version: VersionId
  readonly binding: Binding
}

export interface Cell extends CellBinding {
  readonly store: string
  openStore(): Store
}

export const cellBindings: readonly CellBinding[] = versionIds
  .toReversed()
  .flatMap((version) => bindingNames.map((binding) => ({ version, binding })))

const bindingTitles: Readonly<Record<Binding, string>> = { JSONRPC: 'JSON-RPC', 'HTTP+JSON': 'REST', GRPC: 'gRPC' }

export const nameOf = ({ version, binding }: CellBinding): string => `${version} ${bindingTitles[binding]}`

const scratch = mkdtempSync(join(tmpdir(), 'parley-matrix-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
let files = 0

const noPostgres = await skipReason()
if (noPostgres !== false) console.log(`! the matrix goes without PostgreSQL: ${noPostgres}`)

export const stores: Readonly<Record<string, () => Store>> = {
  memory: () => memoryStore(),
  sqlite: () => sqliteStore(join(scratch, `${++files}.db`)),
  ...(noPostgres === false ? { postgres: await emptyStores() } : {}),
}

export const cells: readonly Cell[] = cellBindings.flatMap((way) =>
  Object.entries(stores).map(([store, openStore]) => ({ ...way, store, openStore })),
)
