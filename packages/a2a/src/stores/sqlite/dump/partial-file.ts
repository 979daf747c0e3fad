/** The name under which a store is loaded before it is complete. Imports nothing: each opening of a store looks for it. */
export function partialFile(file: string): string {
  return `${file}.partial`
}
