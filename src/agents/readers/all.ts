/** Every agent whose session files can be read. */
import type { AgentName } from '../agent.ts'
import { claudeCode } from './claude-code.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { geminiCli } from './gemini-cli.ts'
import { githubCopilot } from './github-copilot.ts'
import { goose } from './goose.ts'
import { grok } from './grok.ts'
import { hermes } from './hermes.ts'
import { kimiCode } from './kimi-code.ts'
import { openclaw } from './openclaw.ts'
import { kilo, opencode } from './opencode.ts'
import { openhands } from './openhands.ts'
import { pi } from './pi.ts'
import { qwenCode } from './qwen-code.ts'
import type { Reader } from './reader.ts'

export const READERS: Record<AgentName, Reader> = {
  'claude-code': claudeCode,
  cline,
  codex,
  'gemini-cli': geminiCli,
  'github-copilot': githubCopilot,
  goose,
  grok,
  hermes,
  kilo,
  'kimi-code': kimiCode,
  opencode,
  openclaw,
  openhands,
  pi,
  'qwen-code': qwenCode,
}
