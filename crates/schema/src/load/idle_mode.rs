//! The mode of CPUs without work while load is measured.

crate::names! {
    /// The mode of CPUs that have nothing to run.
    #[derive(Default)]
    pub enum IdleMode "idle mode" {
        /// They wait without sleeping, so no request pays for waking one.
        Awake = "awake",
        /// They sleep as the machine is set up. All results before this field are like this.
        #[default]
        Natural = "natural",
        /// They are kept awake, and each load at a rate has further visits in which they sleep. A single load has one
        /// of the other two.
        Both = "both",
    }
}

impl IdleMode {
    /// The mode of the figures that are compared.
    #[must_use]
    pub const fn compared(self) -> Self {
        match self {
            Self::Awake | Self::Both => Self::Awake,
            Self::Natural => Self::Natural,
        }
    }
}
