//! The state of a program that is being written: what is in scope, what was declared, how much may still come.

use crate::choices::Choices;

use super::types::{Int, Ty};

/// A variable in scope.
#[derive(Clone, Debug)]
pub struct Variable {
    /// How it is read.
    pub name: String,
    /// What it holds.
    pub ty: Ty,
    /// Whether it can be assigned.
    pub mutable: bool,
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, with `&` or not before the arguments.
    pub name: String,
    /// What its arguments must be.
    pub params: Vec<Ty>,
    /// Whether the first parameter is a `&mut`.
    pub changes_first: bool,
    /// What a call gives.
    pub result: Ty,
    /// About how many operations it takes.
    pub cost: u32,
}

/// A trait with a method, and who has it.
#[derive(Clone, Debug)]
pub struct Trait {
    /// What the method takes.
    pub param: Ty,
    /// What it returns.
    pub result: Ty,
    /// Expressions of types that have it, without variables.
    pub implementors: Vec<String>,
    /// About how many operations a call takes.
    pub cost: u32,
}

/// What a program may do with the threads of its block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Nothing.
    #[default]
    None,
    /// Barriers and slots, and atomics where those may be changed.
    Counting,
}

/// The most operations that a thread may take for one call.
pub const MOST_COST: u32 = 3000;

/// A program that is being written.
#[derive(Debug)]
pub struct Generator<'c> {
    /// Where all decisions come from.
    pub choices: &'c mut Choices,
    /// What can be named, the innermost last.
    pub scope: Vec<Variable>,
    /// The types of each struct's fields.
    pub structs: Vec<Vec<Ty>>,
    /// The types that each enum's variants have.
    pub enums: Vec<Vec<Vec<Ty>>>,
    /// What can be called.
    pub functions: Vec<Function>,
    /// Tables that are constant.
    pub tables: Vec<Variable>,
    /// Traits that types of the program have.
    pub traits: Vec<Trait>,
    /// Whether statements may change what the threads of the block count.
    pub sharing: Sharing,
    /// How many more nodes there may be.
    pub fuel: i32,
    /// How often what is being written runs.
    pub trips: u32,
    /// What the function that is being written costs so far.
    pub cost: u32,
    next: u32,
}

impl<'c> Generator<'c> {
    /// An empty program.
    pub fn new(choices: &'c mut Choices) -> Self {
        Self {
            choices,
            scope: Vec::new(),
            structs: Vec::new(),
            enums: Vec::new(),
            functions: Vec::new(),
            tables: Vec::new(),
            traits: Vec::new(),
            sharing: Sharing::None,
            fuel: 0,
            trips: 1,
            cost: 0,
            next: 0,
        }
    }

    /// A name that nothing has.
    pub fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// Puts a variable into scope.
    pub fn declare(&mut self, name: &str, ty: Ty, mutable: bool) {
        self.scope.push(Variable { name: name.into(), ty, mutable });
    }

    /// Writes with variables that are gone afterwards.
    pub fn within<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.scope.len();
        let result = write(self);
        self.scope.truncate(depth);
        result
    }

    /// Writes what runs so many times.
    pub fn repeated<T>(&mut self, trips: usize, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.trips;
        self.trips = before.saturating_mul(trips.max(1) as u32);
        let result = write(self);
        self.trips = before;
        result
    }

    /// One of the variables that are as wanted; the last are more likely.
    pub fn variable(&mut self, wanted: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let found: Vec<&Variable> = self.scope.iter().rev().filter(|variable| wanted(variable)).collect();
        if found.is_empty() {
            return None;
        }
        let place = self.choices.below(found.len()).min(self.choices.below(found.len()));
        Some(found[place].clone())
    }

    /// Takes a node's fuel, and says whether there was some.
    pub fn take_fuel(&mut self) -> bool {
        self.fuel -= 1;
        self.cost = self.cost.saturating_add(self.trips);
        self.fuel > 0
    }

    /// Whether a call of that cost can be afforded here.
    pub fn affords(&self, cost: u32) -> bool {
        self.cost.saturating_add(self.trips.saturating_mul(cost)) < MOST_COST
    }

    /// Pays for it.
    pub fn pay(&mut self, cost: u32) {
        self.cost = self.cost.saturating_add(self.trips.saturating_mul(cost));
    }

    /// A type that a variable may have here.
    pub fn any_type(&mut self) -> Ty {
        super::types::any(self.choices, self.structs.len(), self.enums.len())
    }

    /// The type of something in scope, or any integer: what is likely to find operands.
    pub fn known_int(&mut self) -> Int {
        let ints = |variable: &Variable| matches!(variable.ty, Ty::Int(_));
        match self.variable(ints) {
            Some(Variable { ty: Ty::Int(int), .. }) if self.choices.below(4) != 0 => int,
            _ => super::types::any_int(self.choices),
        }
    }
}
