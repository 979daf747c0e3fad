/** The names under which authors write languages, file extensions and media types: which table highlights them, and their titles. */
import { languageTitles } from '../strings.ts'

export interface LanguageName {
  /** The id of a table in languages.ts. `undefined` if the language is known by name only. */
  readonly id: string | undefined
  /** As the user reads it. */
  readonly title: string
}

/** Table, title, and the names and extensions that mean it. */
const known: readonly (readonly [id: string, title: keyof typeof languageTitles, names: string])[] = [
  ['javascript', 'javascript', 'javascript|js|jsx|mjs|cjs|node|x-javascript'],
  ['javascript', 'typescript', 'typescript|ts|tsx|mts|cts|x-typescript'],
  ['json', 'json', 'json|jsonc|json5|jsonl|ndjson|geojson'],
  ['yaml', 'yaml', 'yaml|yml|x-yaml'],
  ['python', 'python', 'python|py|py3|pyi|x-python'],
  ['bash', 'shell', 'bash|sh|zsh|shell|console|terminal|shellsession|x-sh|x-shellscript'],
  ['markup', 'html', 'html|htm|xhtml|vue|svelte'],
  ['markup', 'xml', 'xml|svg|xsl|rss|plist'],
  ['css', 'css', 'css|scss|less'],
  ['sql', 'sql', 'sql|postgresql|postgres|mysql|sqlite|x-sql'],
  ['go', 'go', 'go|golang|x-go'],
  ['rust', 'rust', 'rust|rs|x-rust'],
  ['java', 'java', 'java|x-java|x-java-source'],
  ['java', 'kotlin', 'kotlin|kt|kts'],
  ['java', 'csharp', 'csharp|cs|c#'],
  ['java', 'swift', 'swift'],
  ['java', 'scala', 'scala'],
  ['java', 'dart', 'dart'],
  ['c', 'c', 'c|h|x-c'],
  ['c', 'cpp', 'cpp|c++|cc|cxx|hpp|hh|x-c++'],
  ['diff', 'diff', 'diff|patch|x-diff|x-patch'],
  ['toml', 'toml', 'toml'],
  ['toml', 'ini', 'ini|conf|cfg|properties'],
]

const byName = new Map(
  known.flatMap(([id, title, names]) => names.split('|').map((name) => [name, { id, title: languageTitles[title] }])),
)

const maxTitleLength = 24

/** The language that an author names, as after the fence of a code block. `undefined` if the name is empty. */
export function languageNamed(name: string): LanguageName | undefined {
  const word = name.trim().split(/[\s{,:]/, 1)[0] ?? ''
  if (word === '') return undefined
  return byName.get(word.toLowerCase()) ?? { id: undefined, title: word.slice(0, maxTitleLength) }
}

/** The language of a file, by its name or its media type. `undefined` if neither is known. */
export function languageOfFile(fileName: string, mediaType: string): LanguageName | undefined {
  const extension = /\.([\w+#]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? ''
  const subtype = /\/(?:.*\+)?([\w.#+-]+)/.exec(mediaType.toLowerCase())?.[1] ?? ''
  return byName.get(extension) ?? byName.get(subtype)
}
