/** A fault of an agent: the check that finds it, and what is wrong on the wire. */
import type { BindingName, VersionName } from '@parley/cli/conformance'
import type { FaultServerOptions } from './fault-server.ts'

export interface Fault extends FaultServerOptions {
  /** The check that must fail. */
  readonly check: string
  readonly wrong: string
  /** Default 1.0 over JSON-RPC. */
  readonly version?: VersionName
  readonly binding?: BindingName
  /** Sent by the judge. */
  readonly bearer?: string
  /** Whether several interfaces are judged: a fault between them. */
  readonly isBetween?: boolean
}
