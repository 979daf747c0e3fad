/** The public API of `@parley/cli/conformance`: the checks of a live agent. */
export type * from './check.ts'
