/** The words of a conversation: messages, output by type, and questions. */
import { pluralize } from '../components/format.ts'

export const transcriptStrings = {
  you: 'You',
  caller: 'Caller',
  sending: 'Sending…',
  notSent: 'Not sent',
  agentNeedsCredentials: 'The agent needs you to sign in.',
  agentNeedsInput: 'The agent needs more information.',
  answerOf: (agent: string) => `Answer from ${agent}`,
  copyText: 'Copy text',
  took: (duration: string) => `in ${duration}`,
  showEarlier: (count: string, all: string) => `Show ${count} of ${all} earlier`,
  moreLines: (count: number) => pluralize(count, 'more line'),
  event: (seq: number) => `Event ${seq}`,
  attempt: (attempt: number) => `Attempt ${attempt}: the agent began again after a restart`,
} as const

export const partStrings = {
  secret: 'A secret, which is not stored.',
  code: 'code',
  table: 'table',
  copyAddress: 'Copy address',
  blockedAddress: 'Blocked: not a web address',
  unknownPart: 'Unknown part type',
  download: 'Download',
  downloadFile: (name: string) => `Download ${name}`,
  preview: 'Preview',
  hidePreview: 'Hide preview',
  picture: 'picture',
  audio: 'audio',
  video: 'video',
  file: 'file',
  unreadable: 'This file is not valid base64 and cannot be shown.',
  cannotShow: 'This browser cannot show the file. Download it to open it.',
  tooLarge: 'Too large to preview.',
  document: (name: string) => `Preview of ${name}`,
  rows: (count: number) => pluralize(count, 'row'),
  asTable: 'Table',
  asJson: 'JSON',
  asText: 'Text',
  copyData: 'Copy data',
  searchData: 'Search this JSON',
} as const

export const questionStrings = {
  form: (agent: string) => `Answer ${agent}`,
  send: 'Send',
  answerInText: 'Answer in text instead',
  secretHint: 'Sent to the agent only. It is not stored and not shown again.',
  credentials: 'Credentials',
  yourAnswer: 'Your answer',
  yourMaskedAnswer: 'Your answer (masked)',
  resultOf: (tool: string) => `Result of ${tool}, as JSON`,
  scheme: 'Sign-in method',
  toolCallBefore: 'The agent calls the tool ',
  toolCallAfter: ', which runs on the client. You are the client here:',
  optional: '(optional)',
  choose: 'Choose…',
  requiresAuthentication: (agent: string) => `${agent} requires authentication`,
  signInAt: (host: string) => `Sign in at ${host}`,
  inBand:
    'Enter the credentials below; the task resumes immediately. The agent receives them, and the hub stores only a placeholder.',
  outOfBand: 'Sign in using the link above. The task resumes automatically, or when you send it a message.',
  outOfBandWithoutLink: 'Sign in as described above. The task resumes automatically, or when you send it a message.',
  aTool: 'a tool',
  waitsFor: (agent: string, caller: string) => `${agent} waits for ${caller}`,
  onlyCaller: ['Only', 'can answer: the task belongs to this caller.'],
  answerInPlayground: 'Answer in the playground',
} as const

export const authSchemeStrings = {
  http: (scheme: string | undefined) => `HTTP ${scheme ?? 'authentication'}`,
  apiKey: (location: string | undefined, name: string | undefined) =>
    ['API key', location === undefined ? '' : ` in ${location}`, name === undefined ? '' : ` ${name}`].join(''),
  oauth: 'OAuth 2',
  openId: 'OpenID Connect',
  certificate: 'Client certificate',
} as const

export const fieldErrorStrings = {
  required: 'Required.',
  chooseOne: 'Choose at least one.',
  chooseAtLeast: (count: number) => `Choose at least ${count}.`,
  chooseAtMost: (count: number) => `Choose at most ${count}.`,
  notJson: 'Not valid JSON.',
  notNumber: 'Enter a number.',
  notInteger: 'Enter a whole number.',
  atLeast: (least: number) => `Must be at least ${least}.`,
  atMost: (most: number) => `Must be at most ${most}.`,
  minLength: (count: number) => `Enter at least ${count} characters.`,
  maxLength: (count: number) => `Enter at most ${count} characters.`,
} as const
