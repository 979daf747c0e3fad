/** Loads a list whose pages each name the next one. */

/** More pages are not loaded. */
const maxPages = 20

export async function loadAllPages<T>(
  load: (after: string | undefined) => Promise<{ readonly items: readonly T[]; readonly after: string | undefined }>,
): Promise<T[]> {
  const all: T[] = []
  let after: string | undefined
  for (let count = 0; count < maxPages; count += 1) {
    const page = await load(after)
    all.push(...page.items)
    after = page.after
    if (after === undefined) break
  }
  return all
}
