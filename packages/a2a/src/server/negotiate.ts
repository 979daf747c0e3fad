/**
 * Which version a request speaks. A present A2A-Version always wins: the header, or the
 * query parameter for those who cannot set one (B-2). Without it, 1.0 says to read 0.3
 * (B-3); unless told to be strict we look at the JSON-RPC method or the REST path first,
 * because their grammars cannot be confused (B-10, B-11).
 */
import type { HttpRequest } from '../bindings/http.ts'
import { methodsOf } from '../bindings/jsonrpc.ts'
import { findParameter } from '../bindings/query.ts'
import { A2AError } from '../model/error.ts'
import type { Operation } from '../model/operation.ts'
import { versions } from '../versions/index.ts'
import type { ProtocolVersion, VersionId } from '../versions/version.ts'
import { ConfigError } from './config-error.ts'

export interface Negotiator {
  /** Newest first. */
  readonly offered: readonly ProtocolVersion[]
  /** `undefined` if the request does not say; `unsupported` if it asks for what is not offered. */
  asked(request: HttpRequest): ProtocolVersion | 'unsupported' | undefined
  /** In whose shape an error is told before the version is known (B-7). */
  shape(asked: ProtocolVersion | 'unsupported' | undefined): ProtocolVersion
  ofMethod(method: string): ProtocolVersion
  ofPath(path: string): ProtocolVersion
  operation(version: ProtocolVersion, method: string): Operation | undefined
  unsupported(): A2AError
}

export function createNegotiator(wanted: readonly VersionId[] | undefined, strict: boolean): Negotiator {
  const offered = versions
    .filter(({ id }) => wanted === undefined || wanted.includes(id))
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  const [newest] = offered
  if (newest === undefined) throw new ConfigError('versions', 'offer at least one of 0.2, 0.3 and 1.0')
  const byId = new Map<string, ProtocolVersion>(offered.map((version) => [version.id, version]))
  const methods = new Map(offered.map((version) => [version, methodsOf(version)]))
  const byMethod = new Map<string, ProtocolVersion>()
  // Oldest first, so that a method which several versions know is read by the newest of them.
  for (const version of [...offered].reverse()) {
    for (const method of methodsOf(version).keys()) byMethod.set(method, version)
  }
  const missing = byId.get('0.3') ?? byId.get('0.2') ?? newest

  return {
    offered,
    asked(request) {
      const value = request.header('a2a-version') || findParameter(request.query, 'a2a-version')
      if (value === undefined || value === '') return undefined
      return byId.get(value) ?? byId.get(majorMinor(value)) ?? 'unsupported'
    },
    shape(asked) {
      // Whoever names a version at all knows the words of 1.0, which is where the header comes from.
      return asked === 'unsupported' ? newest : (asked ?? missing)
    },
    ofMethod(method) {
      return strict ? missing : (byMethod.get(method) ?? missing)
    },
    ofPath(path) {
      return strict || path.startsWith('/v1/') ? missing : newest
    },
    operation(version, method) {
      return methods.get(version)?.get(method)
    },
    unsupported() {
      const supportedVersions = offered.map(({ id }) => id).join(',')
      return new A2AError(
        'VERSION_NOT_SUPPORTED',
        `This A2A version is not offered; offered are ${supportedVersions}`,
        {
          supportedVersions,
        },
      )
    },
  }
}

/** The patch never counts (B-4). What is no version at all stays what it is, and matches nothing. */
function majorMinor(value: string): string {
  const match = /^\s*(\d{1,3}\.\d{1,3})(?:\.\d{1,9})?\s*$/.exec(value)
  return match?.[1] ?? value
}
