/** The template of a new project, written into a folder: what `npm create parley` and `parley init` share. */
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { packageVersion, readTemplateFile } from './package-files.ts'

export { packageVersion } from './package-files.ts'

/** The files of a project, and where the template has them: npm packs no file called `.gitignore`. */
const templateFiles: Readonly<Record<string, string>> = {
  '.gitignore': 'gitignore',
  'README.md': 'README.md',
  'agent.test.ts': 'agent.test.ts',
  'agent.ts': 'agent.ts',
  'package.json': 'package.json',
  'parley.yaml': 'parley.yaml',
  'tsconfig.json': 'tsconfig.json',
}

/** The packages of a framework, in the versions that Parley is tested with. */
interface FrameworkTemplate {
  readonly title: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly overrides?: Readonly<Record<string, string>>
  /** A line of `.gitignore`. */
  readonly ignored?: string
}

/** The frameworks that a project can be written for: its agent is then an agent of the framework. */
export const frameworks = {
  'ai-sdk': { title: 'Vercel AI SDK', dependencies: { ai: '7.0.169', zod: '4.6.7' } },
  langgraph: {
    title: 'LangGraph',
    dependencies: { '@langchain/core': '1.2.13', '@langchain/langgraph': '1.4.18' },
    overrides: { '@langchain/langgraph-sdk': '1.12.3' },
  },
  mastra: {
    title: 'Mastra',
    dependencies: {
      '@mastra/core': '1.71.0',
      '@mastra/libsql': '1.23.1',
      '@mastra/memory': '1.31.0',
      // The offline model is its mock.
      ai: '7.0.169',
      zod: '4.6.7',
    },
    ignored: 'mastra.db*',
  },
  'openai-agents': { title: 'OpenAI Agents SDK', dependencies: { '@openai/agents-core': '0.20.0', zod: '4.6.7' } },
  claude: {
    title: 'Claude Agent SDK',
    dependencies: {
      '@anthropic-ai/claude-agent-sdk': '0.3.325',
      '@anthropic-ai/sdk': '1.9.0',
      '@modelcontextprotocol/sdk': '1.32.2',
      zod: '4.6.7',
    },
  },
} as const satisfies Readonly<Record<string, FrameworkTemplate>>

/** The name of a framework, as `--framework` takes it. */
export type ProjectFramework = keyof typeof frameworks

/** Options of `createProject`. */
export interface ProjectOptions {
  /** Default: the agent is a function. */
  readonly framework?: ProjectFramework | undefined
}

/** The name of a framework. Throws ProjectError for a name that is unknown. */
export function parseFramework(name: string): ProjectFramework {
  if (Object.hasOwn(frameworks, name)) return name as ProjectFramework
  throw new ProjectError(`Unknown framework ${name}. Choose one of: ${Object.keys(frameworks).join(', ')}.`)
}

function templateOf(framework: ProjectFramework | undefined): Readonly<Record<string, string>> {
  if (framework === undefined) return templateFiles
  const own = `frameworks/${framework}`
  return {
    ...templateFiles,
    'README.md': 'frameworks/README.md',
    'agent.test.ts': `${own}/agent.test.ts`,
    'agent.ts': `${own}/agent.ts`,
    ...(framework === 'langgraph' ? {} : { 'offline-model.ts': `${own}/offline-model.ts` }),
    'parley.yaml': 'frameworks/parley.yaml',
  }
}

/** The name in the template, which the name of the project replaces. */
const templateName = 'my-agent'

/** The project cannot be written. The message says why and what to do. */
export class ProjectError extends Error {
  override readonly name = 'ProjectError'
}

/** A project that was written. */
export interface CreatedProject {
  /** The absolute path. */
  readonly folder: string
  /** The name in its `package.json`. */
  readonly name: string
  /** The names of its files, sorted. */
  readonly files: readonly string[]
}

/**
 * Writes a project into `folder`, which is created if it is missing. Other files in the folder stay. Throws ProjectError, and
 * writes nothing, if a file of the project exists.
 */
export async function createProject(folder: string, { framework }: ProjectOptions = {}): Promise<CreatedProject> {
  const path = resolve(folder)
  const name = projectName(path)
  const template = templateOf(framework)
  const files = Object.keys(template).toSorted()
  await createFolder(path)
  const existing = (
    await Promise.all(files.map(async (file) => ((await exists(join(path, file))) ? [file] : [])))
  ).flat()
  if (existing.length > 0) {
    throw new ProjectError(
      `${path} already has ${existing.join(', ')}. Nothing was written. Choose another folder, or move these files.`,
    )
  }
  for (const [file, from] of Object.entries(template)) {
    const text = await readTemplateFile(from)
    // `wx` fails if another process has written the file since the check.
    await writeFile(join(path, file), forFramework(file, forProject(file, text, name), framework), {
      flag: 'wx',
    }).catch((cause: Error) => {
      throw new ProjectError(`Cannot write to ${path}: ${cause.message}. Choose another folder.`, { cause })
    })
  }
  return { folder: path, name, files }
}

/** What to print after a project was written, for a shell in `cwd`. */
export function nextSteps({ folder, files }: CreatedProject, cwd: string): readonly string[] {
  const place = relative(cwd, folder)
  return [
    `Created ${place === '' ? 'a project in this folder' : place}: ${files.join(', ')}`,
    '',
    'Next:',
    ...(place === '' ? [] : [`  cd ${quoted(place)}`]),
    '  npm install',
    '  npm start',
    '',
    'README.md shows how to send the first message.',
  ]
}

function forProject(file: string, text: string, name: string): string {
  const named = text.replaceAll(templateName, name)
  if (file !== 'package.json') return named
  return named.replaceAll(/("@parley\/[^"]+": )"[^"]*"/g, `$1"${packageVersion()}"`)
}

/** Adds to the settings what the framework needs. */
function forFramework(file: string, text: string, framework: ProjectFramework | undefined): string {
  if (framework === undefined) return text
  const { dependencies, overrides, ignored }: FrameworkTemplate = frameworks[framework]
  if (file === '.gitignore' && ignored !== undefined) return `${text}${ignored}\n`
  // The declarations of frameworks do not all compile under strict settings.
  if (file === 'tsconfig.json') return text.replace('"strict": true,', '"strict": true,\n    "skipLibCheck": true,')
  if (file !== 'package.json') return text
  const manifest = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> }
  const added = { ...manifest.dependencies, ...dependencies }
  const sorted = Object.fromEntries(Object.entries(added).toSorted(([a], [b]) => a.localeCompare(b)))
  const all = { ...manifest, dependencies: sorted, ...(overrides !== undefined ? { overrides } : {}) }
  return `${JSON.stringify(all, null, 2)}\n`
}

/** A name that npm accepts, from the name of the folder. */
function projectName(path: string): string {
  const name = basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 100)
  return name === '' ? templateName : name
}

async function createFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true })
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const isFile = code === 'EEXIST' || code === 'ENOTDIR'
    const reason = isFile ? 'a file is in the way' : (cause as Error).message
    throw new ProjectError(`Cannot create ${path}: ${reason}. Choose another folder.`, { cause })
  }
}

/** A link to a missing file counts: writing would follow it. */
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function quoted(path: string): string {
  return /^[\w./\\:@+-]+$/.test(path) ? path : JSON.stringify(path)
}
