/** The public API of `@parley/cli`: runs a command line, as the program `a2a` does. */
export type { Terminal } from './terminal.ts'
