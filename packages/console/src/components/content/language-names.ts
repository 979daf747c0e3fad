/** The names under which authors write languages, file extensions and media types: which table highlights them, and their titles. */

export interface LanguageName {
  /** The id of a table in languages.ts. `undefined` if the language is known by name only. */
  readonly id: string | undefined
  /** As the user reads it. */
  readonly title: string
}

/** Table, title, and the names and extensions that mean it. */
const known: readonly (readonly [id: string, title: string, names: string])[] = [
  ['javascript', 'JavaScript', 'javascript|js|jsx|mjs|cjs|node|x-javascript'],
  ['javascript', 'TypeScript', 'typescript|ts|tsx|mts|cts|x-typescript'],
  ['json', 'JSON', 'json|jsonc|json5|jsonl|ndjson|geojson'],
  ['yaml', 'YAML', 'yaml|yml|x-yaml'],
  ['python', 'Python', 'python|py|py3|pyi|x-python'],
  ['bash', 'Shell', 'bash|sh|zsh|shell|console|terminal|shellsession|x-sh|x-shellscript'],
  ['markup', 'HTML', 'html|htm|xhtml|vue|svelte'],
  ['markup', 'XML', 'xml|svg|xsl|rss|plist'],
  ['css', 'CSS', 'css|scss|less'],
  ['sql', 'SQL', 'sql|postgresql|postgres|mysql|sqlite|x-sql'],
  ['go', 'Go', 'go|golang|x-go'],
  ['rust', 'Rust', 'rust|rs|x-rust'],
  ['java', 'Java', 'java|x-java|x-java-source'],
  ['java', 'Kotlin', 'kotlin|kt|kts'],
  ['java', 'C#', 'csharp|cs|c#'],
  ['java', 'Swift', 'swift'],
  ['java', 'Scala', 'scala'],
  ['java', 'Dart', 'dart'],
  ['c', 'C', 'c|h|x-c'],
  ['c', 'C++', 'cpp|c++|cc|cxx|hpp|hh|x-c++'],
  ['diff', 'Diff', 'diff|patch|x-diff|x-patch'],
  ['toml', 'TOML', 'toml'],
  ['toml', 'INI', 'ini|conf|cfg|properties'],
]

const byName = new Map(known.flatMap(([id, title, names]) => names.split('|').map((name) => [name, { id, title }])))

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
