/** What the site changes in the text of a page before it is parsed: the files of an example, and pictures for the dark theme. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { sourceFile, type Markdown } from './markdown.ts'

export function pageText(markdown: Markdown, root: string): void {
  markdown.core.ruler.before('normalize', 'page-text', (state) => {
    const file = sourceFile(state.env, root)
    state.src = picturesByTheme(state.src)
    if (file !== undefined && /^examples\/[^/]+\/README\.md$/.test(file)) {
      state.src += exampleFiles(join(root, dirname(file)))
    }
  })
}

/** A repository host selects the source of a picture by the system, and the site by its own theme. */
function picturesByTheme(text: string): string {
  return text.replaceAll(
    /<picture><source [^>]*srcset="([^"]+)"><img src="([^"]+)"([^>]*)><\/picture>/g,
    '<img class="light-only" src="$2"$3><img class="dark-only" src="$1"$3>',
  )
}

/** The section with every file of an example. A repository host shows them beside the README. */
function exampleFiles(folder: string): string {
  const files = readdirSync(folder).filter(
    (name) => /\.(ts|json|yaml)$/.test(name) && !/^\.|package-lock\.json$/.test(name),
  )
  const sections = files
    .sort()
    .map((name) => `### ${name}\n\n~~~~${extname(name).slice(1)}\n${readFileSync(join(folder, name), 'utf8')}~~~~\n`)
  return `\n## Files\n\nEvery file of the folder \`${basename(folder)}\`:\n\n${sections.join('\n')}`
}
