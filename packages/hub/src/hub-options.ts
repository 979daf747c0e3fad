/** What `startHub` needs besides the configuration. */
import type { AgentLog } from '@parley/a2a'
import type { AgentKind } from './agents/kind.ts'
import type { ConfigSource } from './config/config-source.ts'
import type { ReloadResult } from './config/diff-config.ts'
import type { LogBuffer } from './telemetry/logs/log-buffer.ts'
import type { TelemetryDeps } from './telemetry/telemetry.ts'

export interface HubOptions {
  readonly log: AgentLog
  /** The last lines of `log`, for the admin API. Default: none. */
  readonly logBuffer?: LogBuffer | undefined
  /** Accepts anonymous access on any address, if the configuration allows anonymous access. */
  readonly insecure?: boolean | undefined
  /** Opens a SQLite file even if acknowledged writes are missing. Default `false`: the hub refuses to start. */
  readonly acceptLoss?: boolean | undefined
  /** Environment variables for programs that agents start. Default: none. */
  readonly programEnv?: Readonly<Record<string, string>> | undefined
  /** Default: all built-in kinds. */
  readonly kinds?: readonly AgentKind[] | undefined
  /** The folder of the console files. Default: the output folder of the build. */
  readonly consoleFolder?: URL | undefined
  /** Writes to the standard output, for `audit.export`. Default: that of the process. */
  readonly print?: ((text: string) => void | Promise<void>) | undefined
  /** The configuration source for changes through the admin API. Default: none, so such changes are refused. */
  readonly source?: ConfigSource | undefined
  /** Becomes the admin key if neither the configuration nor the store have one. Default: a generated key. */
  readonly firstAdminKey?: string | undefined
  /** Called with a created admin key, before anything can fail that needs no key, such as a port in use. */
  readonly onNewAdminKey?: ((key: string) => Promise<void>) | undefined
  /** Called after every applied configuration, of a file or of the admin API. */
  readonly onReload?: ((result: ReloadResult) => void) | undefined
  /** The providers of secrets, for metrics. Default: none. */
  readonly secretProviders?: TelemetryDeps['secretProviders'] | undefined
  /** Removes the secrets of the configuration from an error. Default: only those that the hub keeps are removed. */
  readonly redact?: ((text: string) => string) | undefined
  /** Called with the values of `${hub:…}`, which must not be shown. */
  onSecrets?(values: readonly string[]): void
}
