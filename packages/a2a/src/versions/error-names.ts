/**
 * The names by which official SDKs know errors, as `TaskNotFoundError`. REST bodies of 0.3 carry them: the SDK for
 * Python reads a class name off `type`, the SDK for Java one with its package off `error`, and neither the number.
 */
import { errorTable } from '../model/error-table.ts'
import type { ErrorCode } from '../model/error.ts'

/** Where several codes share a number, the first of the table is the general one. */
export const codeOfNumber: ReadonlyMap<unknown, ErrorCode> = new Map(
  (Object.entries(errorTable) as [ErrorCode, { readonly jsonrpc: number }][])
    .reverse()
    .map(([code, { jsonrpc }]) => [jsonrpc, code]),
)

/** Names that are not the code's own words. */
const irregular: Partial<Readonly<Record<ErrorCode, string>>> = { PARSE_ERROR: 'JSONParse' }

/** By the number, because SDKs know the official errors only: a code of ours has the name of the official one beside it. */
export function errorNameOf(number: number): string {
  const code = codeOfNumber.get(number) ?? 'INTERNAL'
  const words =
    irregular[code] ?? code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return `${words}Error`
}

/** The same with the package of Java's SDK 0.3, and by the names of 0.3, of which one has changed since. */
export function javaErrorNameOf(number: number): string {
  return `io.a2a.spec.${errorNameOf(number).replace(/^ExtendedAgentCard/, 'AuthenticatedExtendedCard')}`
}

/** From the last part of a problem type, as `…/task-not-found`, or from a class name, with or without its package. */
export function codeOfErrorName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  const last = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('.')) + 1)
  const words = last
    .replace(/_v0_3$/, '')
    .replace(/-?error$/i, '')
    .replace(/^JSONParse$/, 'ParseError')
    .replace(/^AuthenticatedExtendedCard/, 'ExtendedAgentCard')
  return words
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toUpperCase()
}
