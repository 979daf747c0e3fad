/** Where a check applies: the versions, the bindings and the levels that several checks share. */
import type { BindingName, Level, PerVersion, VersionName } from '../check.ts'

export const allVersions: readonly VersionName[] = ['1.0', '0.3', '0.2']
export const v1: readonly VersionName[] = ['1.0']
export const v0: readonly VersionName[] = ['0.3', '0.2']
export const allBindings: readonly BindingName[] = ['JSONRPC', 'HTTP+JSON', 'GRPC']
/** Where payloads are JSON, so that absent and empty fields differ. */
export const jsonBindings: readonly BindingName[] = ['JSONRPC', 'HTTP+JSON']
export const jsonRpc: readonly BindingName[] = ['JSONRPC']
export const rest: readonly BindingName[] = ['HTTP+JSON']
export const grpc: readonly BindingName[] = ['GRPC']

/** The A2A error codes: 0.3 requires them in §11.1.5, 0.2 recommends them in §8.2. */
export const errorCodeLevel: PerVersion<Level> = { '1.0': 'must', '0.3': 'must', '0.2': 'should' }
/** What 1.0 specified first, and we expect of older versions too. */
export const newRule: PerVersion<Level> = { '1.0': 'must', '0.3': 'info', '0.2': 'info' }
