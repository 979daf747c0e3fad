/** The words of a report: versions, bindings, levels, and what a check concludes. */

/** `must` and `should` are the official specification's words; our own decisions and practices are `info`. */
export type Level = 'must' | 'should' | 'info'
/** A version of the protocol. */
export type VersionName = (typeof versionNames)[number]
export type BindingName = 'JSONRPC' | 'HTTP+JSON' | 'GRPC'

/** The versions that have checks, newest first. The judge has a list of its own: it must not take one from what it judges. */
export const versionNames = ['1.0', '0.3', '0.2'] as const
export const bindingNames: readonly BindingName[] = ['JSONRPC', 'HTTP+JSON', 'GRPC']

/**
 * What a check concludes. `fail`: the agent did what slowness alone cannot explain. `undecided`: the agent did not show it in time, or
 * a limit such as `--read-only` forbids to look. `not-applicable`: the rule is about something that this agent does not have, such as
 * a capability that its card does not declare.
 */
export type Verdict =
  | { readonly outcome: 'pass'; readonly note?: string }
  | { readonly outcome: 'fail'; readonly note: string; readonly evidence?: Evidence }
  | { readonly outcome: 'undecided'; readonly note: string }
  | { readonly outcome: 'not-applicable'; readonly note: string }

/** The exchange that shows a failure, redacted and cut to a readable length. */
export interface Evidence {
  readonly request: string
  readonly response: string
}

/** One value for every version, or one per version where the specification changed. */
export type PerVersion<T> = T | Partial<Readonly<Record<VersionName, T>>>

/** The value for one version; `undefined` if there is none. */
export function valueFor<T>(perVersion: PerVersion<T>, version: VersionName): T | undefined {
  if (typeof perVersion !== 'object' || perVersion === null) return perVersion
  return (perVersion as Partial<Record<VersionName, T>>)[version]
}
