/** The repositories of a project, with those that past placement suggests. */
import { Button, Stack, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { count, counted } from '../../format/counts.ts'
import { FIRST_DAY } from '../../parts/period.ts'
import { Caption } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import type { Project } from './project.ts'

/** More would be a list to read instead of a suggestion. */
const SUGGESTED = 5
const PLACED = ['named', 'rule', 'manual'] as const

/** A repository with entries on the project. */
interface Suggestion {
  repository: string
  here: number
  everywhere: number
}

interface RepositoryFieldProps {
  project: Project | undefined
  value?: string[]
  onChange: (repositories: string[]) => void
  error?: string
}

export function RepositoryField({ project, value = [], onChange, ...field }: RepositoryFieldProps) {
  const suggestions = useSuggestions(project).filter(({ repository }) => !value.includes(repository))
  return (
    <Stack gap={6}>
      <TagsInput
        label="Repositories"
        description="Leads of the project see and assign unattributed entries of everyone that have one of these labels. Press Enter after each."
        placeholder={value.length === 0 ? 'acme/web' : undefined}
        splitChars={[]}
        clearable
        value={value}
        onChange={onChange}
        {...field}
      />
      {suggestions.slice(0, SUGGESTED).map((suggestion) => (
        <Suggested key={suggestion.repository} {...suggestion} add={(added) => onChange([...value, added])} />
      ))}
    </Stack>
  )
}

function Suggested({ repository, here, everywhere, add }: Suggestion & { add: (repository: string) => void }) {
  return (
    <Caption>
      <bdi>{repository}</bdi>: {count(here)} of its {counted(everywhere, 'assigned entry is', 'assigned entries are')}{' '}
      on this project.{' '}
      <Button size="compact-xs" variant="default" onClick={() => add(repository)} aria-label={`Add ${repository}`}>
        Add
      </Button>
    </Caption>
  )
}

/** The repositories of the entries that were assigned to the project, those with most entries there first. */
function useSuggestions(project: Project | undefined): Suggestion[] {
  const { data } = useQuery({
    queryKey: ['reports', 'repositories', project?.id],
    queryFn: async ({ signal }) => {
      const here = await entriesByRepository({ project: [project!.id] }, signal)
      if (here.size === 0) return []
      const everywhere = await entriesByRepository(
        { label: [...here.keys()].map((name) => `repository:${name}`) },
        signal,
      )
      return [...here].map(([repository, entries]) => ({
        repository,
        here: entries,
        everywhere: everywhere.get(repository) ?? entries,
      }))
    },
    enabled: project !== undefined,
  })
  return data ?? []
}

async function entriesByRepository(
  filter: { project?: string[]; label?: string[] },
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const query = { ...filter, placed: [...PLACED], starting_at: FIRST_DAY, bucket_width: 'all' as const }
  const { data } = await answer(
    apiUntil(signal).reports.usage.get({ query: { ...query, group_by: ['label:repository'] } }),
  )
  const rows = data.flatMap(({ results }) => results)
  const named = rows.flatMap(({ labels, entries }): [string, number][] => {
    const repository = labels?.repository
    return repository ? [[repository, entries]] : []
  })
  return new Map(named.sort(([, one], [, other]) => other - one).slice(0, 20))
}
