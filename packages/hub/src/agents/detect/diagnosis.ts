/** Why nothing was detected, in one sentence, with what to do about it. */

/** Of several, the first of this list explains the others. */
export const diagnosisCodes = [
  'unauthenticated',
  'module-failed',
  'file-not-found',
  'not-executable',
  'command-not-found',
  'not-listening',
  'host-not-found',
  'untrusted-certificate',
  'no-tls',
  'tls-required',
  'unreachable',
  'timeout',
  'web-page',
  'not-an-agent',
  'unknown',
] as const

export type DiagnosisCode = (typeof diagnosisCodes)[number]

export interface Diagnosis {
  /** For programs. */
  readonly code: DiagnosisCode
  /** What is wrong: `Nothing is listening on port 44998` */
  readonly title: string
  /** What to do. */
  readonly advice: string
  /** The error as it was reported. */
  readonly cause?: string
}

export function mostSpecific(found: readonly (Diagnosis | undefined)[]): Diagnosis {
  for (const code of diagnosisCodes) {
    const match = found.find((one) => one?.code === code)
    if (match !== undefined) return match
  }
  return {
    code: 'unknown',
    title: 'Couldn’t identify this agent',
    advice: 'Check the URL or command, or choose the kind yourself.',
  }
}

/** `status` is that of the response. */
export function requiresAuthentication(status: number | string | undefined): Diagnosis {
  return {
    code: 'unauthenticated',
    title: 'Requires authentication',
    advice: 'Provide a token, then detect again.',
    ...(status === undefined ? {} : { cause: `HTTP ${status}` }),
  }
}

/** Of the same requests, if they had a token. */
export function tokenRefused(diagnosis: Diagnosis): Diagnosis {
  return {
    ...diagnosis,
    title: 'The token was refused',
    advice: 'Check the token, and that it is valid for this address. Then detect again.',
  }
}

export function commandNotFound(program: string): Diagnosis {
  return {
    code: 'command-not-found',
    title: `Command not found: ${program}`,
    advice: 'Check the spelling, or use the full path. Commands run in the config file’s directory.',
  }
}

/** `cwd` is the folder of the configuration file. */
export function fileNotFound(path: string, cwd: string): Diagnosis {
  const home = path.startsWith('~') ? '~ is not expanded: use the full path. ' : ''
  return {
    code: 'file-not-found',
    title: `File not found: ${path}`,
    advice: `${home}Relative paths start at ${cwd}.`,
  }
}

/** `file` is the full path. */
export function notExecutable(path: string, file: string): Diagnosis {
  return {
    code: 'not-executable',
    title: `${path} is not executable`,
    advice: `Run chmod +x ${file}, or name the program that runs it.`,
  }
}

const keptByNode = '. Restart the hub to load it again'

export function moduleFailed(path: string, cause: string): Diagnosis & { readonly cause: string } {
  const isKept = cause.endsWith(keptByNode)
  return {
    code: 'module-failed',
    title: `${path} failed to load`,
    // The process that detects may be the hub, or a command beside it.
    advice: isKept
      ? 'Fix the error in that file. A hub that has tried to load it must be restarted.'
      : 'Fix the error in the file, then detect again.',
    cause: isKept ? cause.slice(0, -keptByNode.length) : cause,
  }
}

export function diagnoseTimeout(ms: number): Diagnosis {
  return {
    code: 'timeout',
    title: `No response within ${ms / 1_000} s`,
    advice: 'The server accepts connections but does not answer. Check its log.',
  }
}

/** Thrown for a cause that explains why nothing was detected, such as a command that does not exist. */
export class DiagnosedError extends Error {
  readonly diagnosis: Diagnosis

  constructor(message: string, diagnosis: Diagnosis) {
    super(message)
    this.diagnosis = diagnosis
  }
}
