/**
 * The reference of the SDK: one page for each entry point of @parley/a2a, named as programs import it, and a first page with the
 * functions that most programs begin with.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const sdk = join(import.meta.dirname, '../packages/a2a')
const { name, exports } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8'))
const isPublic = ([path]) => path !== './internal'
const entries = Object.entries(exports)
  .filter(isPublic)
  .map(([path, { 'parley-source': source }]) => ({
    /** What a program imports. */
    name: `${name}${path.slice(1)}`,
    file: join(sdk, source),
    /** How typedoc names the module, and the name of its page. */
    module: source.replace(/^\.\/src\//, '').replace(/(?<=.)\/index\.ts$|\.ts$/, ''),
    page: path === '.' ? 'a2a' : path.slice(2).replaceAll('/', '-'),
  }))

/** Names each page after its entry point, and not after the file of the module. */
function nameEntryPoints(app) {
  app.converter.on('resolveBegin', ({ project }) => {
    for (const module of project.children ?? []) {
      module.name = entries.find((entry) => entry.module === module.name)?.page ?? module.name
    }
  })
  app.renderer.on('endPage', (page) => {
    const nameOf = (text) => entries.find((entry) => entry.page === text)?.name
    page.contents = page.contents
      ?.replace(/^# (\S+)$/m, (heading, text) => (nameOf(text) === undefined ? heading : `# ${nameOf(text)}`))
      .replaceAll(/^- \[([\w-]+)\]\(([\w-]+)\.md\)$/gm, (line, text, file) =>
        nameOf(text) === undefined ? line : `- [${nameOf(text)}](${file}.md)`,
      )
  })
}

/** What the first page begins with: a function, and the page that has it. */
const firstFunctions = [
  ['serve', 'node'],
  ['connect', 'client'],
  ['createHandler', 'server'],
]

/** The section of a function on its page, for another page of the folder. */
function sectionOf(name, page) {
  const text = readFileSync(join(import.meta.dirname, 'sdk', `${page}.md`), 'utf8')
  const section = text
    .split(`\n### ${name}()\n`)[1]
    ?.split(/^(?:\*\*\*|##? .*)$/m)[0]
    .trim()
  if (section === undefined) throw new Error(`${page}.md has no ${name}()`)
  const moved = section.replaceAll('](#', `](${page}.md#`).replaceAll(/^####/gm, '###')
  return `## ${name}()\n\nFrom [\`${entries.find((entry) => entry.page === page).name}\`](${page}.md).\n\n${moved}\n`
}

function writeFirstPage(app) {
  app.renderer.postRenderAsyncJobs.push(async () => {
    const file = join(import.meta.dirname, 'sdk/index.md')
    const [title, list] = readFileSync(file, 'utf8').split('\n## Modules\n')
    const sections = firstFunctions.map(([name, page]) => sectionOf(name, page))
    writeFileSync(
      file,
      [
        '---\noutline: 2\n---\n',
        title,
        'Most programs begin with one of three functions.\n',
        ...sections,
        `## All entry points\n${list}`,
      ].join('\n'),
    )
  })
}

export default {
  name: 'SDK reference',
  entryPoints: entries.map(({ file }) => file),
  tsconfig: join(sdk, 'tsconfig.json'),
  plugin: ['typedoc-plugin-markdown', nameEntryPoints, writeFirstPage],
  out: './sdk',
  router: 'module',
  readme: 'none',
  groupOrder: ['Functions', '*'],
  // Types are checked by `npm run check`, with the compiler of the project.
  skipErrorChecking: true,
  // There is no public address of the sources to link to.
  disableSources: true,
  excludeInternal: true,
  excludePrivate: true,
  validation: { notExported: false },
  hideBreadcrumbs: true,
  hidePageHeader: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  useCodeBlocks: true,
  entryFileName: 'index.md',
  logLevel: 'Warn',
}
