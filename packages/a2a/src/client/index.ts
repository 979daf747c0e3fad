/** What `@parley/a2a/client` gives: one function to reach an agent, and the types of what it hands out. */
export { A2AError } from '../model/error.ts'
export type { ErrorCode, ErrorDetails, Violation } from '../model/error.ts'
export type { VersionId } from '../versions/version.ts'
export { clearCardCache, discover } from './card.ts'
export { connect } from './connect.ts'
export type * from './contract.ts'
export { invoke } from './invoke.ts'
