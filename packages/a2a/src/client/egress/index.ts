/**
 * The public API of `@parley/a2a/client/node`: the fetch on node:http, for programs that only call agents. `@parley/a2a/node` has it
 * too, with the server and the guarded fetch.
 */
export { nodeFetch } from './node-exchange.ts'
export type { NodeFetchOptions } from './node-exchange.ts'
