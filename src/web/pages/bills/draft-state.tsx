/** Whether what is typed in a new bill is saved, and the choice between two versions if somebody else has changed it. */
import { Alert, Button, Group, Text } from '@mantine/core'
import { Ago } from '../../parts/figures.tsx'
import classes from './draft-state.module.css'
import { isGone, type KeptDraft } from './use-draft.ts'

export function DraftState({
  draft: { savedAt, problem, overwrite },
  reload,
}: {
  draft: KeptDraft
  reload: () => void
}) {
  if (problem?.status === 412) {
    return (
      <div className={classes.kept}>
        <Alert color="orange" variant="light" title="Changed meanwhile" role="alert">
          <Text size="sm">
            <bdi>{problem.changed?.by?.name ?? 'Somebody'}</bdi> changed this draft
            {problem.changed?.at && (
              <>
                {' '}
                <Ago at={problem.changed.at} />
              </>
            )}
            , so what you type is not saved.
          </Text>
          <Group gap="xs" mt="xs">
            <Button size="xs" variant="default" onClick={reload}>
              Open their version
            </Button>
            <Button size="xs" variant="default" onClick={overwrite}>
              Replace it with mine
            </Button>
          </Group>
        </Alert>
      </div>
    )
  }
  if (isGone(problem)) {
    return (
      <div className={classes.kept}>
        <Alert color="orange" variant="light" title="This draft is gone" role="alert">
          It was sent or deleted, by you or by somebody else. Look for its bill before you send this one. What you type
          is not saved.
        </Alert>
      </div>
    )
  }
  return (
    <Text size="xs" c={problem ? 'var(--mantine-color-error)' : 'dimmed'} role="status" mb={4} mih={18}>
      {problem ? `The draft is not saved. ${problem.message}` : savedAt && 'Draft saved.'}
    </Text>
  )
}
