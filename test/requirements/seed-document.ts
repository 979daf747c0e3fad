/**
 * The requirement documents of Parley contain programs. Their text is kept beside the tests exactly as in the
 * documents, so that a clone has it; where the documents are at hand, a test compares the two.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const documents = join(import.meta.dirname, '../../../shared/seeds')

/** The document whose file name begins with this number; `undefined` where the documents are not at hand. */
export function readDocument(number: string): string | undefined {
  if (!existsSync(documents)) return undefined
  const [file] = globSync(`${number}_*.txt`, { cwd: documents })
  return file === undefined ? undefined : readFileSync(join(documents, file), 'utf8')
}

/** The TypeScript under a heading, verbatim. A heading with several blocks gives the first. */
export function programIn(document: string, heading: string): string | undefined {
  const [, section] = document.split(`\n### ${heading}\n`)
  return section === undefined ? undefined : /^```typescript\n(.*?)^```$/ms.exec(section)?.[1]
}
