/** Repeats the message. */
import type { Turn } from '@parley/a2a'

export const agent = ({ text }: Turn): string => `echo ${text}`
