/**
 * Determines the protocol version of a request. A present A2A-Version always wins: the header, or the query parameter for clients
 * that cannot set headers (B-2). Without it, 1.0 says to assume 0.3 (B-3); unless `strict` is set, the JSON-RPC method or the REST
 * path decides first, because their grammars cannot be confused (B-10, B-11).
 */
import { type HttpRequest, findParameter } from '../../bindings/http.ts'
import { jsonrpcMethodsOf } from '../../bindings/jsonrpc/jsonrpc-server.ts'
import { A2AError } from '../../model/error.ts'
import type { Operation } from '../../model/operation.ts'
import { versions } from '../../versions/index.ts'
import type { ProtocolVersion, VersionId } from '../../versions/index.ts'
import { ConfigError } from '../config-error.ts'
import { isLegacyVersion } from '../../versions/version.ts'

export interface VersionNegotiator {
  /** Newest first. */
  readonly offered: readonly ProtocolVersion[]
  /** `undefined` if the request names no version; `unsupported` if it names one that is not offered. */
  requestedVersion(request: HttpRequest): ProtocolVersion | 'unsupported' | undefined
  /** The version in which an error is written before the version is known (B-7). */
  responseVersion(requestedVersion: ProtocolVersion | 'unsupported' | undefined): ProtocolVersion
  ofMethod(method: string): ProtocolVersion
  ofPath(path: string): ProtocolVersion
  operation(version: ProtocolVersion, method: string): Operation | undefined
  unsupportedVersionError(): A2AError
}

export function createVersionNegotiator(
  enabledVersions: readonly VersionId[] | undefined,
  strict: boolean,
): VersionNegotiator {
  const offered = versions.filter(({ id }) => enabledVersions?.includes(id) ?? true)
  const [newest] = offered
  if (newest === undefined)
    throw new ConfigError('versions', `must contain at least one of ${versions.map(({ id }) => id).join(', ')}`)
  const byId = new Map<string, ProtocolVersion>(offered.map((version) => [version.id, version]))
  const methods = new Map(offered.map((version) => [version, jsonrpcMethodsOf(version)]))
  const byMethod = new Map<string, ProtocolVersion>()
  // Oldest first, so that the newest version wins for a method that several versions have.
  for (const version of [...offered].reverse()) {
    for (const method of jsonrpcMethodsOf(version).keys()) byMethod.set(method, version)
  }
  const unstatedVersion = offered.find(({ id }) => isLegacyVersion(id)) ?? newest

  return {
    offered,
    requestedVersion(request) {
      const value = request.header('a2a-version') || findParameter(request.query, 'a2a-version')
      // In strict mode it is a request of 0.3, which a server without a 0.x version refuses (B-3).
      if (value === undefined || value === '')
        return strict && !isLegacyVersion(unstatedVersion.id) ? 'unsupported' : undefined
      return byId.get(value) ?? byId.get(majorMinor(value)) ?? 'unsupported'
    },
    responseVersion(requestedVersion) {
      // A client that names a version knows the error format of 1.0, which introduced the header.
      return requestedVersion === 'unsupported' ? newest : (requestedVersion ?? unstatedVersion)
    },
    ofMethod(method) {
      return strict ? unstatedVersion : (byMethod.get(method) ?? unstatedVersion)
    },
    ofPath(path) {
      return strict || path.startsWith('/v1/') ? unstatedVersion : newest
    },
    operation(version, method) {
      return methods.get(version)?.get(method)
    },
    unsupportedVersionError() {
      const supportedVersions = offered.map(({ id }) => id).join(',')
      return new A2AError(
        'VERSION_NOT_SUPPORTED',
        `This A2A version is not supported; supported: ${supportedVersions}`,
        {
          supportedVersions,
        },
      )
    },
  }
}

/** The patch number is ignored (B-4). A value that is not a version is returned unchanged and matches nothing. */
function majorMinor(value: string): string {
  const match = /^\s*(\d{1,3}\.\d{1,3})(?:\.\d{1,9})?\s*$/.exec(value)
  return match?.[1] ?? value
}
