/** The public API of `@parley/cli`: runs a command line, as the program `a2a` does. */
export { runA2a } from './run.ts'
export { runInProcess } from './process-terminal.ts'
export type { Terminal } from './terminal.ts'
