/** The options of one run: from the command line, the environment, the configuration files or the built-in defaults. */

/** Where the value of a setting comes from. */
export type SettingSource =
  | { readonly kind: 'flag' }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'default' }

export interface Setting {
  readonly name: string
  /** All values of a repeatable option; otherwise one. Empty: not set. `'true'` and `'false'` for a switch. */
  readonly values: readonly string[]
  readonly source: SettingSource
}

/** Precedence: command line, environment, local `.env` or `--config`, global `.env`, default. */
export interface Settings {
  /** The value of an option, `undefined` if it has none. */
  value(name: string): string | undefined
  values(name: string): readonly string[]
  /** Whether a switch is on. */
  has(name: string): boolean
  sourceOf(name: string): SettingSource
  /** A duration such as `2s`, `500ms`, `1m30s` or `10` (seconds), in milliseconds. */
  durationMs(name: string): number | undefined
  /** A size such as `100MB`, in bytes. */
  bytes(name: string): number | undefined
  /** An integer in these limits. Throws a usage error. */
  integer(name: string, min?: number, max?: number): number | undefined
  /** A JSON object. Throws a usage error. */
  jsonObject(name: string): Record<string, unknown> | undefined
  /** The `.env` of the project in the current folder: its author wrote it, who may not be the user. */
  readonly projectFile: string | undefined
  readonly all: readonly Setting[]
}
