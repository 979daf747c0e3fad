/**
 * The requests of section 9 of the 0.2 text, byte for byte: v0-2-requests.txt has them as in the document,
 * each below a line with its section. The document writes comments into JSON, and placeholders for what is long.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ExampleRequest {
  readonly section: string
  readonly title: string
  /** As it stands in the document. */
  readonly text: string
}

export const exampleRequests: readonly ExampleRequest[] = readFileSync(
  join(import.meta.dirname, 'v0-2-requests.txt'),
  'utf8',
)
  .split(/^### /m)
  .slice(1)
  .map((block) => {
    const [heading = '', ...lines] = block.trim().split('\n')
    const [section = '', ...title] = heading.split(' ')
    return { section, title: title.join(' '), text: lines.join('\n') }
  })

/** What a client sends: the text without comments, placeholders filled in, ids of the document's server replaced by ours. */
export function bodyOf(section: string, title: string, replaced: Readonly<Record<string, string>> = {}): string {
  const request = exampleRequests.find((one) => one.section === section && one.title === title)
  if (request === undefined) throw new Error(`there is no request "${title}" in ${section}`)
  let text = withoutComments(request.text)
  for (const [before, after] of Object.entries({ ...placeholders, ...replaced })) text = text.replaceAll(before, after)
  return text
}

const placeholders = {
  '<base64-encoded-content>': 'iVBORw0KGgoAAAANSUhEUgAAAAUA',
  'iVBORw0KGgoAAAANSUhEUgAAAAUA...': 'iVBORw0KGgoAAAANSUhEUgAAAAUA',
}

/** A comment begins with two slashes outside of a string. */
function withoutComments(text: string): string {
  return text.replaceAll(/("(?:\\.|[^"\\])*")|\/\/.*/g, (_, string: string | undefined) => string ?? '')
}
