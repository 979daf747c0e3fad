/** Answers with what it was told. */
import type { Turn } from '@parley/a2a'

export const agent = ({ text }: Turn): string => `echo ${text}`
