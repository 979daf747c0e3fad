/**
 * Entry point `@parley/cli/internal`: what the command lines `a2a` and `parley` share. No promise: its names change with any version. It
 * loads neither a command nor the SDK, since help loads it.
 */
export { hasGiven, parseCommandLine, requireCommand } from './args/parse-args.ts'
export type { CommandSpec, OptionSpec, ParsedArgs, ProgramSpec } from './args/option.ts'
export { completionScript, shells } from './completion.ts'
export { allowsStyles, createPrinter, formatSize } from './output/printer.ts'
export { privateCacheFolder } from './private-cache-folder.ts'
