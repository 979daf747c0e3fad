/** What a torture run is aimed at: hubs on one database, the way to them, and how to read and copy the database. */
import type { TaskLog } from '../cluster/check-history.ts'
import type { StoreReader } from '@parley/a2a/internal'
import type { TcpProxy } from '../cluster/tcp-proxy.ts'
import type { HubProcess } from './hub-process.ts'

export interface UnfinishedTask {
  readonly id: string
  readonly agent: string
}

/** Does its damage and repairs it again. */
export interface Fault {
  readonly kind: string
  /** How often, compared with the other faults. */
  readonly share: number
  /** Whether writes of the store fail meanwhile. */
  readonly failsStore?: boolean
  inject(random: () => number): Promise<void>
}

export interface Deployment {
  readonly name: string
  readonly folder: string
  /** For clients: through a connection that can be cut. */
  readonly url: string
  /** For the harness, which is never cut off. */
  readonly directUrl: string
  readonly hubs: readonly HubProcess[]
  readonly clientProxy: TcpProxy
  readonly faults: readonly Fault[]
  /** Kills since the start, of all hubs. */
  readonly kills: number
  kill(hub: HubProcess): Promise<void>
  unfinished(): Promise<readonly UnfinishedTask[]>
  /** The logs of all tasks whose id is not in `known`. */
  readLogs(known: ReadonlyMap<string, unknown>): Promise<readonly TaskLog[]>
  /** Copies the database while the hub runs, opens the copy and reads those tasks. */
  backup(taskIds: readonly string[]): Promise<readonly TaskLog[]>
  /** The database at its present moment, for `verifyStore`. */
  reader(): Promise<StoreReader>
  close(): Promise<void>
}
