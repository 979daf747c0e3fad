/**
 * The names of errors in the official SDKs, such as `TaskNotFoundError`. REST bodies of 0.3 carry them: the SDK for Python
 * reads a class name from `type`, the SDK for Java one with its package from `error`, and neither reads the number.
 */
import { errorTable } from '../model/error-table.ts'
import type { ErrorCode } from '../model/error.ts'

/** If several codes share a number, the first of the table is the general one. */
export const codeOfNumber: ReadonlyMap<unknown, ErrorCode> = new Map(
  (Object.entries(errorTable) as [ErrorCode, { readonly jsonrpc: number }][])
    .reverse()
    .map(([code, { jsonrpc }]) => [jsonrpc, code]),
)

/** Names that do not follow from the code. */
const irregular: Partial<Readonly<Record<ErrorCode, string>>> = { PARSE_ERROR: 'JSONParse' }

/**
 * By number, because SDKs know only the official errors: a code of ours gets the name of the official code with that number.
 */
export function errorNameOf(number: number): string {
  const code = codeOfNumber.get(number) ?? 'INTERNAL'
  const words =
    irregular[code] ?? code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return `${words}Error`
}

/** The same with the package of Java's SDK 0.3, and with the names of 0.3, of which one has changed since. */
export function javaErrorNameOf(number: number): string {
  return `io.a2a.spec.${errorNameOf(number).replace(/^ExtendedAgentCard/, 'AuthenticatedExtendedCard')}`
}

/** Takes the last segment of a problem type, such as `…/task-not-found`, or a class name with or without its package. */
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
