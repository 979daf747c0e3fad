/** The public API of `@parley/a2a/client`: `connect`, and the types of what it returns. */
export { A2AError } from '../model/error.ts'
export type { ErrorCode, ErrorDetails, Violation } from '../model/error.ts'
export type { VersionId } from '../versions/version.ts'
export { clearCardCache, discover } from './card/card-discovery.ts'
export { createAuthenticator } from './auth/authenticator.ts'
export { connect } from './connect.ts'
export type * from './contract.ts'
export { invoke } from './invoke.ts'
