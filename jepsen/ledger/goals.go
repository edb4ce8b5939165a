package ledger

// Names of figures that goals are set for. Durations are in seconds.
const (
	PowerLosses    = "power losses of all nodes"
	KillsOfAll     = "kills of all nodes"
	LostWrites     = "acknowledged writes lost"
	FailoverKills  = "kills of the leader"
	FailoverMedian = "failover, median"
	FailoverWorst  = "failover, worst"
	RestartFailed  = "failed requests at the other nodes in a restart"
	RestartGap     = "longest gap at the other nodes in a restart"
	Restarts       = "graceful restarts"
	Heals          = "partitions levelled"
	HealWorst      = "all nodes level after healing, worst"
	Electors       = "electors"
	ElectorHours   = "hours of elections"
	Overlaps       = "times with two holders"
	HoldersLost    = "holders that lost their lease by a fault of a minority"
	BugsCaught     = "seeded bugs caught"
	BugsMissed     = "seeded bugs missed"
)

// how a figure of many entries becomes one.
type how int

const (
	total  how = iota // over the entries since the last failure
	latest            // of the newest entry that has it
)

// goal is what the product must show.
type goal struct {
	figure string
	how    how
	most   bool // at most bound, else at least
	bound  float64
	unit   string
}

var goals = [...]goal{
	{PowerLosses, total, false, 50, ""},
	{KillsOfAll, total, false, 300, ""},
	{LostWrites, total, true, 0, ""},
	{FailoverKills, latest, false, 50, ""},
	{FailoverMedian, latest, true, 1.2, "s"},
	{FailoverWorst, latest, true, 2, "s"},
	{RestartFailed, latest, true, 0, ""},
	{RestartGap, latest, true, 0.25, "s"},
	{HealWorst, latest, true, 5, "s"},
	{Electors, latest, false, 300, ""},
	{ElectorHours, total, false, 1, "h"},
	{Overlaps, total, true, 0, ""},
	{HoldersLost, total, true, 0, ""},
	{BugsMissed, latest, true, 0, ""},
}

// Goals for what every run adds to, counted since the last failure.
const (
	goalOperations = 5_000_000
	goalFaults     = 1000
	goalDays       = 30
)
